"""What runs beside the user's application: its conditions report, its clients ask ciguard.

Standard library only, Python 3.9 and later; the application brings the clients.
"""
